import eslint from '@eslint/js';
import tseslint from 'typescript-eslint';

/** Words that name no concept of ours; a file or class that needs one is in the wrong room. */
const VAGUE_NAME = /(Manager|Helper|Util|Utils|Common|Impl|Base|Info|Data)$/.source;

/** Time and chance come in through libs/kernel, so that every rule can be tested under virtual time. */
const AMBIENT = [
  { object: 'Date', property: 'now', message: 'Use Clock from @weir/kernel.' },
  { object: 'performance', property: 'now', message: 'Use Clock from @weir/kernel.' },
  { object: 'Math', property: 'random', message: 'Use Random from @weir/kernel.' },
];
const ENVIRONMENT = {
  object: 'process',
  property: 'env',
  message: 'The environment is read in libs/config and main.ts only.',
};
const TESTS = ['**/*.spec.ts', '**/*.contract.ts', 'libs/testing/**', 'apps/*/test/**', 'apps/bench/**'];

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'coverage/'] },
  eslint.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      // Iterators that are awaited elsewhere and port methods that are async by contract.
      '@typescript-eslint/require-await': 'off',
      complexity: ['error', 12],
      'max-lines': ['error', { max: 400 }],
      'max-lines-per-function': ['error', { max: 40, skipBlankLines: true, skipComments: true }],
      'max-params': ['error', 4],
      'no-console': 'error',
      'no-restricted-syntax': [
        'error',
        {
          selector: 'ExportAllDeclaration',
          message: 'Named exports only: the public surface must be visible in a diff.',
        },
        { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' },
        { selector: 'TSEnumDeclaration', message: 'Use a union of string literals.' },
        { selector: 'TSModuleDeclaration[kind="namespace"]', message: 'Use a module.' },
        { selector: 'Identifier[name="forwardRef"]', message: 'Siblings never import siblings.' },
        {
          selector: `ClassDeclaration[id.name=/${VAGUE_NAME}/]`,
          message: "Name the concept, in the field's words.",
        },
      ],
    },
  },
  {
    files: ['apps/**/*.ts', 'libs/**/*.ts'],
    ignores: ['libs/kernel/**', ...TESTS],
    rules: {
      'no-restricted-globals': [
        'error',
        ...['setTimeout', 'setInterval', 'setImmediate'].map((name) => ({
          name,
          message: 'Use Timers from @weir/kernel.',
        })),
      ],
      'no-restricted-properties': ['error', ...AMBIENT, ENVIRONMENT],
    },
  },
  {
    files: ['libs/config/**', 'apps/*/src/main.ts'],
    ignores: TESTS,
    rules: { 'no-restricted-properties': ['error', ...AMBIENT] },
  },
  {
    files: ['**/*.spec.ts', '**/*.contract.ts', 'apps/*/test/**', 'libs/testing/**'],
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
      globals: { module: 'writable', require: 'readonly', process: 'readonly', console: 'readonly' },
    },
    rules: { ...tseslint.configs.disableTypeChecked.rules, 'no-restricted-syntax': 'off' },
  },
);
