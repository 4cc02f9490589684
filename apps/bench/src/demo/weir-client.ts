import { z } from 'zod';
import { keyDigest, startGateway } from '../gateway-service.js';
import { end, nextMessage, startClient, type Service } from '../processes.js';
import type { CallerJob } from './caller.js';
import { Outcome } from './outcome.js';
import type { Endpoint } from './stream-call.js';
import { ACCOUNT, MODELS, shares, WINDOW_SECONDS, WORKERS, type Question } from './workload.js';

const TEAM_KEY = 'team-key-of-the-demo';

/** Starts a gateway in front of a provider, with the limits of the article and nothing else that differs from the defaults. */
export function startDemoGateway(provider: Endpoint): Promise<Service> {
  return startGateway(configuration(provider));
}

function configuration({ url, key }: Endpoint): object {
  const limits = ({ limit, burst }: { limit: number; burst: number }): object => ({
    requestsPerMinute: limit,
    burst,
  });
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
    teams: [{ id: 'demo', keys: [keyDigest(TEAM_KEY)] }],
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
