import eslint from '@eslint/js';
import tseslint from 'typescript-eslint';

/**
 * Blocks named `weir/…` are restrictions of this house; scripts/boundaries.spec.ts holds a planted violation for each of them
 * and fails when one has none. What the presets restrict is proven by their authors.
 */

/** Words that name no concept of ours; a file or class that needs one is in the wrong room. */
const VAGUE_NAME = /(Manager|Helper|Util|Utils|Common|Impl|Base|Info|Data)$/.source;

/** Time and chance come in through libs/kernel, so that every rule can be tested under virtual time. */
const AMBIENT = [
  { object: 'Date', property: 'now', message: 'Use Clock from @weir/kernel.' },
  { object: 'performance', property: 'now', message: 'Use Clock from @weir/kernel.' },
  { object: 'process', property: 'hrtime', message: 'Use Clock from @weir/kernel.' },
  { object: 'Math', property: 'random', message: 'Use Random from @weir/kernel.' },
];
const ENVIRONMENT = {
  object: 'process',
  property: 'env',
  message: 'The environment is read in libs/config and main.ts only.',
};
const TIMERS = ['setTimeout', 'setInterval', 'setImmediate'].map((name) => ({
  name,
  message: 'Use Timers from @weir/kernel.',
}));
const FETCH = { name: 'fetch', message: 'The HTTP client is the undici adapter of @weir/upstream.' };

const SYNTAX = [
  {
    selector: 'ExportAllDeclaration',
    message: 'Export by name: the public surface must be visible in a diff.',
  },
  { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' },
  { selector: 'TSEnumDeclaration', message: 'Use a union of string literals.' },
  { selector: 'Identifier[name="forwardRef"]', message: 'Siblings never import siblings.' },
  {
    selector: `ClassDeclaration[id.name=/${VAGUE_NAME}/]`,
    message: "Name the concept, in the field's words.",
  },
];
const CLOCKLESS = {
  selector: 'NewExpression[callee.name="Date"][arguments.length=0]',
  message: 'Ask Clock.',
};

const SPECS = ['**/*.spec.ts', '**/*.contract.ts', '**/test/**/*.ts', '**/testing/**/*.ts'];
const TESTS = [...SPECS, 'apps/bench/**'];

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'coverage/'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  eslint.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // Nest types its options as classes and documents them as object literals.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      // Presets say these too; here with our options.
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // Nothing else that the SDK exports reads OTEL_EXPORTER_OTLP_HEADERS, certificates and the like as its exporters do.
      '@typescript-eslint/no-deprecated': [
        'error',
        {
          allow: [
            {
              from: 'package',
              package: '@opentelemetry/otlp-exporter-base',
              name: 'convertLegacyHttpOptions',
            },
          ],
        },
      ],
      // Iterators that are awaited elsewhere and port methods that are async by contract.
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    name: 'weir/house',
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      complexity: ['error', 12],
      'max-lines': ['error', { max: 400 }],
      'max-lines-per-function': ['error', { max: 40, skipBlankLines: true, skipComments: true }],
      'max-params': ['error', 4],
      'no-console': 'error',
      'no-restricted-syntax': ['error', ...SYNTAX],
    },
  },
  {
    name: 'weir/time-chance-environment',
    files: ['apps/**/*.{ts,mts}', 'libs/**/*.{ts,mts}'],
    ignores: ['libs/kernel/**', ...TESTS],
    rules: {
      'no-restricted-globals': ['error', ...TIMERS, FETCH],
      'no-restricted-properties': ['error', ...AMBIENT, ENVIRONMENT],
      'no-restricted-syntax': ['error', ...SYNTAX, CLOCKLESS],
    },
  },
  {
    name: 'weir/readers-of-the-environment',
    files: ['libs/config/**', 'apps/*/src/main.ts'],
    ignores: TESTS,
    rules: { 'no-restricted-properties': ['error', ...AMBIENT] },
  },
  {
    files: SPECS,
    rules: {
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  { files: ['apps/bench/**', 'scripts/**', 'apps/*/src/main.ts'], rules: { 'no-console': 'off' } },
  {
    files: ['**/*.js', '**/*.mjs', '**/*.cjs'],
    ...tseslint.configs.disableTypeChecked,
    languageOptions: {
      ...tseslint.configs.disableTypeChecked.languageOptions,
      globals: Object.fromEntries(
        [
          'module',
          'require',
          'process',
          'console',
          'setInterval',
          'fetch',
          'AbortSignal',
          'AbortController',
          'URL',
        ].map((name) => [name, 'readonly']),
      ),
    },
    rules: {
      ...tseslint.configs.disableTypeChecked.rules,
      '@typescript-eslint/explicit-module-boundary-types': 'off',
      '@typescript-eslint/no-require-imports': 'off',
      'no-restricted-syntax': 'off',
    },
  },
);
