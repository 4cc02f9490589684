import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { end, nextMessage, startClient, startService, type Service } from '../processes.js';
import type { CallerJob } from './caller.js';
import { Outcome } from './outcome.js';
import type { Endpoint } from './stream-call.js';
import { ACCOUNT, MODELS, shares, WINDOW_SECONDS, WORKERS, type Question } from './workload.js';

const TEAM_KEY = 'team-key-of-the-demo';

/** Starts a gateway in front of a provider, with the limits of the article and nothing else that differs from the defaults. */
export async function startDemoGateway(provider: Endpoint): Promise<Service> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-demo-'));
  const file = join(folder, 'weir.yaml');
  // JSON is YAML.
  await writeFile(file, JSON.stringify(configuration(provider)));
  const remove = (): Promise<void> => rm(folder, { recursive: true });
  try {
    const gateway = await startService('gateway', { WEIR_CONFIG: file, WEIR_PORT: '0' });
    return { url: gateway.url, stop: () => gateway.stop().then(remove) };
  } catch (thrown) {
    await remove();
    throw thrown;
  }
}

function configuration({ url, key }: Endpoint): object {
  const limits = ({ limit, burst }: { limit: number; burst: number }): object => ({
    requestsPerMinute: limit,
    burst,
  });
  const digest = createHash('sha256').update(TEAM_KEY).digest('hex');
  return {
    accounts: [
      {
        id: 'main',
        baseUrl: `${url}/v1`,
        apiKey: key,
        windowSeconds: WINDOW_SECONDS,
        limits: limits(ACCOUNT),
        models: {
          'gemini-2.5-pro': { limits: limits(MODELS['gemini-2.5-pro']) },
          'gemini-2.5-flash': { limits: limits(MODELS['gemini-2.5-flash']) },
        },
      },
    ],
    teams: [{ id: 'demo', keys: [`sha256:${digest}`] }],
  };
}

/** All questions at once through a gateway, from client processes of their own. They only changed the base URL. */
export async function weirClient(gateway: Service, questions: readonly Question[]): Promise<Outcome[]> {
  const endpoint = { url: gateway.url, key: TEAM_KEY };
  const callers = shares(questions, WORKERS).map((share) => ({
    process: startClient('demo-caller'),
    job: { endpoint, questions: [...share] } satisfies CallerJob,
  }));
  try {
    await Promise.all(
      callers.map(({ process, job }) => {
        process.send(job);
        return nextMessage(process);
      }),
    );
    const reports = await Promise.all(
      callers.map(({ process }) => {
        process.send('go');
        return nextMessage(process);
      }),
    );
    return reports.flatMap((report) => z.array(Outcome).parse(report));
  } finally {
    await Promise.all(callers.map(({ process }) => end(process)));
  }
}
