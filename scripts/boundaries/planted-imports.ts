import type { Tree } from './planted-tree.js';

/** A tree that breaks one rule of .dependency-cruiser.cjs, once for each of its forbidden imports. */
export interface PlantedImports {
  readonly rule: string;
  readonly planted: Tree;
  /** How often the rule must speak; every other rule must be silent. */
  readonly times: number;
}

const LIBS = ['kernel', 'protocol', 'config', 'limiter', 'retry', 'upstream', 'telemetry'] as const;

/** @returns code that imports `x` from each module, by value. */
export function importing(...modules: readonly string[]): string {
  const lines = modules.map((module, at) => `import { x as x${at} } from '${module}';`);
  return `${lines.join('\n')}\nexport const all = [${modules.map((_, at) => `x${at}`).join(', ')}];\n`;
}

/** @returns code that imports `x` from each module as a type. */
export function importingTypes(...modules: readonly string[]): string {
  const lines = modules.map((module, at) => `import type { x as X${at} } from '${module}';`);
  return `${lines.join('\n')}\nexport type All = ${modules.map((_, at) => `typeof X${at}`).join(' | ')};\n`;
}

function breaks(rule: string, path: string, ...modules: readonly string[]): PlantedImports {
  return { rule, planted: { [path]: importing(...modules) }, times: modules.length };
}

/** Every library that `lib` may not import, as a type or not, and an app besides. */
function breaksRow(lib: string, allowed: readonly string[]): PlantedImports {
  const rule = `${lib}-imports-only-${allowed.join('-and-') || 'itself'}`;
  const foreign = LIBS.filter((other) => other !== lib && !allowed.includes(other));
  const modules = foreign.map((other) => `@weir/${other}`);
  return {
    rule,
    planted: {
      [`libs/${lib}/src/planted.ts`]: importing(...modules, '../../../apps/bench/src/main.js'),
      [`libs/${lib}/src/planted-types.ts`]: importingTypes(...modules),
      'apps/bench/src/main.ts': 'export const x = 1;\n',
    },
    times: 2 * modules.length + 1,
  };
}

const app = (path: string): Tree => ({ [path]: 'export const x = 1;\n' });

const TABLE: readonly PlantedImports[] = [
  breaksRow('kernel', []),
  ...['protocol', 'config', 'limiter', 'retry'].map((lib) => breaksRow(lib, ['kernel'])),
  breaksRow('upstream', ['kernel', 'protocol']),
  ...['telemetry', 'testing'].flatMap((lib): PlantedImports[] => [
    {
      rule: `${lib}-imports-only-libraries`,
      planted: {
        [`libs/${lib}/src/planted.ts`]: importingTypes('../../../apps/bench/src/main.js'),
        ...app('apps/bench/src/main.ts'),
      },
      times: 1,
    },
    breaks(
      `${lib}-imports-ports-as-types`,
      `libs/${lib}/src/planted.ts`,
      ...LIBS.filter((other) => other !== lib && other !== 'kernel').map((other) => `@weir/${other}`),
    ),
  ]),
  breaks('library-has-a-row', 'libs/unheard/src/planted.ts', '@weir/kernel'),
  {
    rule: 'gateway-imports-only-libraries',
    planted: {
      'apps/gateway/src/planted.ts': importing('../../simulator/src/main.js', '../../bench/src/main.js'),
      ...app('apps/simulator/src/main.ts'),
      ...app('apps/bench/src/main.ts'),
    },
    times: 2,
  },
  {
    rule: 'gateway-tests-import-no-app-but-simulator',
    planted: {
      'apps/gateway/test/planted.ts': importing('../../simulator/src/main.js', '../../bench/src/main.js'),
      'apps/gateway/src/planted.spec.ts': importing('../../bench/src/main.js'),
      ...app('apps/simulator/src/main.ts'),
      ...app('apps/bench/src/main.ts'),
    },
    times: 2,
  },
  breaks(
    'simulator-imports-only-kernel-and-protocol',
    'apps/simulator/src/planted.ts',
    ...LIBS.filter((lib) => lib !== 'kernel' && lib !== 'protocol').map((lib) => `@weir/${lib}`),
  ),
  breaks('testing-only-from-tests', 'apps/gateway/src/planted.ts', '@weir/testing'),
  breaks('testing-only-from-tests', 'libs/limiter/src/planted.ts', '@weir/testing'),
  {
    rule: 'libraries-through-their-index',
    planted: {
      'apps/gateway/src/planted.ts': importing('../../../libs/kernel/src/clock.js'),
      'libs/kernel/src/clock.ts': 'export const x = 1;\n',
    },
    times: 1,
  },
  {
    rule: 'libraries-by-their-alias',
    planted: {
      'libs/limiter/src/planted.ts': importing('../../kernel/src/index.js'),
      'libs/kernel/src/index.ts': 'export const x = 1;\n',
    },
    times: 1,
  },
];

const SHAPE: readonly PlantedImports[] = [
  {
    rule: 'no-cycle',
    planted: {
      'libs/limiter/src/egg.ts': `import type { Hen } from './hen.js';\nexport interface Egg { readonly from: Hen }\n`,
      'libs/limiter/src/hen.ts': `import type { Egg } from './egg.js';\nexport interface Hen { readonly from: Egg }\n`,
    },
    times: 1,
  },
  {
    rule: 'no-orphan',
    planted: { 'libs/limiter/orphan.ts': 'export const x = 1;\n' },
    times: 1,
  },
  {
    rule: 'reached-from-a-door',
    planted: {
      'libs/limiter/src/index.ts': 'export const x = 1;\n',
      'libs/limiter/src/dead.ts': 'export const x = 1;\n',
      'libs/limiter/src/dead.spec.ts': importing('./dead.js'),
    },
    times: 1,
  },
  {
    rule: 'no-test-in-production',
    planted: {
      'libs/limiter/src/planted.ts': importing(
        './a.spec.js',
        './b.contract.js',
        './test/c.js',
        './testing/d.js',
      ),
      'libs/limiter/src/a.spec.ts': 'export const x = 1;\n',
      'libs/limiter/src/b.contract.ts': 'export const x = 1;\n',
      'libs/limiter/src/test/c.ts': 'export const x = 1;\n',
      'libs/limiter/src/testing/d.ts': 'export const x = 1;\n',
    },
    times: 4,
  },
  breaks('no-unresolved-import', 'libs/limiter/src/planted.ts', './nowhere.js'),
  breaks('no-undeclared-package', 'libs/limiter/src/planted.ts', 'left-pad'),
];

const PERMISSIONS: readonly PlantedImports[] = [
  breaks('no-dev-package-in-production', 'libs/limiter/src/planted.ts', 'fast-check'),
  breaks(
    'nest-only-in-nest-files',
    'apps/gateway/src/planted.ts',
    '@nestjs/common',
    '@nestjs/core',
    '@nestjs/platform-fastify',
  ),
  breaks('fastify-only-in-nest-files', 'apps/gateway/src/planted.ts', 'fastify'),
  breaks('telemetry-needs-fastify-types-only', 'libs/telemetry/src/server-span.ts', 'fastify'),
  breaks('rxjs-only-at-the-door', 'apps/gateway/src/chat/chat-pipeline.ts', 'rxjs'),
  breaks('opentelemetry-only-in-telemetry', 'libs/limiter/src/planted.ts', '@opentelemetry/api'),
  breaks('http-client-only-in-undici-files', 'libs/upstream/src/planted.ts', 'undici', 'axios'),
  breaks('node-http-only-as-types', 'libs/upstream/src/planted.ts', 'node:http', 'https', 'node:net'),
  breaks('tokenizer-only-in-its-thread', 'libs/limiter/src/planted.ts', 'gpt-tokenizer', 'tiktoken'),
  breaks('threads-only-in-worker-files', 'libs/limiter/src/planted.ts', 'node:worker_threads'),
  breaks('redis-only-in-redis-files', 'libs/limiter/src/planted.ts', 'ioredis', '@redis/client'),
  breaks(
    'openai-and-peers-only-in-tests-and-bench',
    'apps/gateway/src/planted.ts',
    'openai',
    'bottleneck',
    'limiter',
    'p-queue',
    'p-throttle',
    'rate-limiter-flexible',
  ),
  breaks('node-timers-only-in-kernel', 'libs/retry/src/planted.ts', 'node:timers/promises', 'timers'),
];

/** At least one for every rule. */
export const PLANTED_IMPORTS: readonly PlantedImports[] = [...TABLE, ...SHAPE, ...PERMISSIONS];

/** What the table and the permissions allow; no rule may speak. */
export const PERMITTED_IMPORTS: Tree = {
  'libs/limiter/src/planted.ts': importing('@weir/kernel'),
  'libs/limiter/src/planted.spec.ts': importing('./planted.js', '@weir/testing', 'fast-check'),
  'libs/limiter/src/ledger/redis/planted.ts': importing('ioredis'),
  'libs/limiter/src/tokenizer-worker.mts': importing('gpt-tokenizer', 'node:worker_threads'),
  'libs/limiter/src/worker-counter.ts':
    importing('node:worker_threads') + importingTypes('./tokenizer-worker.mjs'),
  'libs/limiter/src/ledger/redis-ledger.ts': importing('ioredis', '@weir/kernel'),
  'libs/upstream/src/undici-stream-client.ts': importing('undici', '@weir/kernel', '@weir/protocol'),
  'libs/telemetry/src/planted.ts': importing('@opentelemetry/api', '@weir/kernel'),
  'libs/telemetry/src/traced-limiter.ts': importingTypes('@weir/limiter', '@weir/upstream', '@weir/retry'),
  'libs/telemetry/src/server-span.ts': importingTypes('fastify'),
  'libs/testing/src/limiter.contract.ts': importingTypes('@weir/limiter'),
  'libs/kernel/src/sleep.ts': importing('node:timers/promises'),
  'apps/gateway/src/main.ts': importing(
    './gateway.module.js',
    '@nestjs/core',
    '@opentelemetry/api',
    'fastify',
  ),
  'apps/gateway/src/gateway.module.ts': importing('@nestjs/common', './chat/chat.controller.js'),
  'apps/gateway/src/chat/chat.controller.ts': importing('@nestjs/common', 'rxjs', './to-observable.js'),
  'apps/gateway/src/chat/to-observable.ts': importing('rxjs', './outgoing.js', './chat-pipeline.js'),
  'apps/gateway/src/chat/outgoing.ts': importingTypes('node:http'),
  'apps/gateway/src/chat/chat-pipeline.ts': importing(...LIBS.map((lib) => `@weir/${lib}`)),
  'apps/gateway/test/planted.ts': importing(
    '../../simulator/src/main.js',
    'openai',
    'undici',
    '@weir/testing',
  ),
  'apps/simulator/src/main.ts': importing('@weir/kernel', '@weir/protocol', 'node:http'),
  'apps/bench/src/main.ts': importing('p-queue', 'openai', '@weir/limiter', '../../simulator/src/main.js'),
  'scripts/planted.ts': importing('@weir/config'),
};
