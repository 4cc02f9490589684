/**
 * Who may import whom, and which file names carry which permission (docs/decisions/0003).
 * The table of the house is LIBS and the app rules; scripts/boundaries.spec.ts holds a planted violation for every rule here
 * and fails when a rule has none.
 */

/** Libraries of ours that a library may import, besides itself. */
const LIBS = {
  kernel: [],
  protocol: ['kernel'],
  config: ['kernel'],
  limiter: ['kernel'],
  retry: ['kernel'],
  upstream: ['kernel', 'protocol'],
};

/** Libraries that stand around ports: kernel by value, every other library as `import type` only. */
const AROUND_PORTS = ['telemetry', 'testing'];

const OURS = '^(apps|libs|scripts)/';
const TESTS = ['\\.(spec|contract)\\.ts$', '/(test|testing)/'];
const PRODUCTION = '^(apps/(gateway|simulator)/src|libs/[^/]+/src)/';
const MAIN = '^apps/[^/]+/src/main\\.ts$';
const DOORS = [MAIN, '^libs/[^/]+/src/index\\.ts$'];
const NEST_FILE = '\\.(module|controller|interceptor|filter|guard|pipe)\\.ts$';
const UNDICI_FILE = '/undici-[^/]+\\.ts$';
/** A thread and whoever starts it. */
const WORKER_FILES = ['/worker-[^/]+\\.ts$', '/[^/]+-worker\\.mts$'];

const oneOf = (names) => `(${names.join('|')})`;
const packages = (...names) => `(^|/)node_modules/${oneOf(names)}/`;
const core = (...names) => `^(node:)?${oneOf(names)}$`;

/** @returns a rule: the files of `from` never import `to`. */
const never = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

/** Test code may import libs/testing from anywhere; that nobody else does is a rule of its own. */
const rowOfTheTable = ([lib, allowed]) =>
  never(
    `${lib}-imports-only-${allowed.join('-and-') || 'itself'}`,
    'Siblings never import siblings: they meet in apps/gateway/src/chat/chat-pipeline.ts.',
    { path: `^libs/${lib}/` },
    { path: OURS, pathNot: `^libs/${oneOf([lib, 'testing', ...allowed])}/` },
  );

const aroundPorts = (lib) => [
  never(
    `${lib}-imports-only-libraries`,
    'It wraps the ports of libraries and knows no app.',
    { path: `^libs/${lib}/` },
    { path: '^(apps|scripts)/' },
  ),
  never(
    `${lib}-imports-ports-as-types`,
    'It wraps ports: `import type` of a library keeps it free of every adapter.',
    { path: `^libs/${lib}/` },
    {
      path: '^libs/',
      pathNot: `^libs/${oneOf([lib, 'kernel', 'testing'])}/`,
      dependencyTypesNot: ['type-only'],
    },
  ),
];

const TABLE = [
  ...Object.entries(LIBS).map(rowOfTheTable),
  ...AROUND_PORTS.flatMap(aroundPorts),
  never(
    'library-has-a-row',
    'A new library gets a row in LIBS first.',
    { path: '^(libs/[^/]+)/', pathNot: `^libs/${oneOf([...Object.keys(LIBS), ...AROUND_PORTS])}/` },
    { pathNot: '^$1/' },
  ),
  never(
    'gateway-imports-only-libraries',
    'What another app and the gateway share belongs into a library.',
    { path: '^apps/gateway/', pathNot: TESTS },
    { path: '^(apps|scripts)/', pathNot: '^apps/gateway/' },
  ),
  never(
    'gateway-tests-import-no-app-but-simulator',
    'End-to-end tests start the simulator in the process; nothing else of another app.',
    { path: ['^apps/gateway/test/', '^apps/gateway/.*\\.spec\\.ts$'] },
    { path: '^(apps|scripts)/', pathNot: '^apps/(gateway|simulator)/' },
  ),
  never(
    'simulator-imports-only-kernel-and-protocol',
    'It judges the limiter: the same bug must not sit on both sides.',
    { path: '^apps/simulator/' },
    { path: OURS, pathNot: '^(apps/simulator|libs/(kernel|protocol|testing))/' },
  ),
  never(
    'testing-only-from-tests',
    'Fakes never reach a running service.',
    { pathNot: TESTS },
    { path: '^libs/testing/' },
  ),
  never(
    'libraries-through-their-index',
    'The public surface of a library is its src/index.ts.',
    { path: '^(apps/[^/]+|libs/[^/]+|scripts)/' },
    { path: '^libs/', pathNot: ['^$1/', '^libs/[^/]+/src/index\\.ts$'] },
  ),
  never(
    'libraries-by-their-alias',
    'A library is named @weir/<library>, never by a relative path.',
    { path: '^(apps/[^/]+|libs/[^/]+|scripts)/' },
    { path: '^libs/[^/]+/src/index\\.ts$', pathNot: '^$1/', dependencyTypesNot: ['aliased'] },
  ),
];

const SHAPE = [
  never(
    'no-cycle',
    'Two files that need each other are one, or miss a third; types count too.',
    {},
    { circular: true },
  ),
  never(
    'no-orphan',
    'A file that imports nothing and that nobody imports is dead.',
    // Peers of the bench are preloaded by name into processes of their own.
    { orphan: true, path: '^(apps|libs)/', pathNot: [...DOORS, ...TESTS, '^apps/bench/peers/'] },
    {},
  ),
  never(
    'reached-from-a-door',
    'What only its own spec reaches is dead: the doors are main.ts and index.ts.',
    { path: DOORS },
    { path: '^(apps|libs)/[^/]+/src/', pathNot: [...DOORS, ...TESTS], reachable: false },
  ),
  never(
    'no-test-in-production',
    'Specs and contract suites are imported by tests only.',
    { pathNot: TESTS },
    { path: TESTS, pathNot: ['node_modules', '^libs/testing/'] },
  ),
  never('no-unresolved-import', 'The import leads nowhere.', {}, { couldNotResolve: true }),
  never(
    'no-undeclared-package',
    'package.json names every package that is imported.',
    { path: OURS },
    { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
  ),
];

const PEERS = packages('openai', 'bottleneck', 'limiter', 'p-queue', 'p-throttle', 'rate-limiter-flexible');

const PERMISSIONS = [
  never(
    'no-dev-package-in-production',
    'A service runs with `npm ci --omit=dev`.',
    { path: PRODUCTION, pathNot: TESTS },
    { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'], pathNot: PEERS },
  ),
  never(
    'nest-only-in-nest-files',
    'Domain code knows no framework.',
    { path: OURS, pathNot: [NEST_FILE, MAIN, ...TESTS] },
    { path: packages('@nestjs/[^/]+') },
  ),
  never(
    'fastify-only-in-nest-files',
    'Domain code knows no framework.',
    { path: OURS, pathNot: [NEST_FILE, MAIN, '^libs/telemetry/', ...TESTS] },
    { path: packages('fastify', '@fastify/[^/]+') },
  ),
  never(
    'telemetry-needs-fastify-types-only',
    'The server span is a plugin: the app hands it the instance.',
    { path: '^libs/telemetry/', pathNot: TESTS },
    { path: packages('fastify', '@fastify/[^/]+'), dependencyTypesNot: ['type-only'] },
  ),
  never(
    'rxjs-only-at-the-door',
    'Inside, values go down and one AsyncIterable comes up.',
    { path: OURS, pathNot: ['\\.(controller|interceptor)\\.ts$', '/to-observable\\.ts$', ...TESTS] },
    { path: packages('rxjs') },
  ),
  never(
    'opentelemetry-only-in-telemetry',
    'Spans wrap ports from outside; domain code does not know that it is watched.',
    { path: OURS, pathNot: ['^libs/telemetry/', MAIN, '^apps/[^/]+/(test/|.*\\.spec\\.ts$)'] },
    { path: packages('@opentelemetry/[^/]+') },
  ),
  never(
    'http-client-only-in-undici-files',
    'One adapter talks to providers.',
    { path: PRODUCTION, pathNot: [UNDICI_FILE, ...TESTS] },
    { path: packages('undici', 'axios', 'got', 'ky', 'node-fetch') },
  ),
  never(
    'node-http-only-as-types',
    'node:http and its kin are HTTP clients too; the simulator only serves.',
    { path: '^(apps/gateway|libs/[^/]+)/src/', pathNot: [UNDICI_FILE, ...TESTS] },
    { path: core('http', 'https', 'http2', 'net', 'tls'), dependencyTypesNot: ['type-only'] },
  ),
  never(
    'tokenizer-only-in-its-thread',
    'To count costs more than the rest of a request: nobody counts on the event loop.',
    { path: OURS, pathNot: ['/tokenizer-worker\\.mts$', ...TESTS] },
    { path: packages('gpt-tokenizer', 'tiktoken', 'js-tiktoken') },
  ),
  never(
    'threads-only-in-worker-files',
    'A thread has a memory, a queue and an end; one file for each sees to all three.',
    { path: PRODUCTION, pathNot: [...WORKER_FILES, ...TESTS] },
    { path: core('worker_threads') },
  ),
  never(
    'redis-only-in-redis-files',
    'One adapter for each port talks to Redis.',
    { path: OURS, pathNot: ['/redis[^/]*/', '/redis-[^/]+\\.ts$'] },
    { path: packages('ioredis', 'iovalkey', 'redis', '@redis/[^/]+') },
  ),
  never(
    'openai-and-peers-only-in-tests-and-bench',
    'They are what Weir is measured against.',
    { path: OURS, pathNot: ['^apps/bench/', ...TESTS] },
    { path: PEERS },
  ),
  never(
    'node-timers-only-in-kernel',
    'Time comes in through Clock and Timers, so that every rule can be tested under virtual time.',
    { path: PRODUCTION, pathNot: ['^libs/kernel/', ...TESTS] },
    { path: core('timers', 'timers/promises') },
  ),
];

module.exports = {
  forbidden: [...TABLE, ...SHAPE, ...PERMISSIONS],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      mainFields: ['main', 'types'],
    },
  },
};
