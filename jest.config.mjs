/**
 * Tests import the TypeScript sources as they are; swc only strips the types. V8 runs them with `--no-compilation-cache`
 * (scripts/unit.mjs): with that cache a worker's heap grows by some 4 MB with each file that it has run, 28 to 99 MB over 22
 * small ones, and every collection of garbage looks through all of it.
 */
export default {
  globalSetup: '<rootDir>/test/support/hostSettings.ts',
  testEnvironment: '<rootDir>/test/support/testContext.ts',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        // JSON is imported as what it is.
        jsc: { parser: { syntax: 'typescript' }, target: 'es2024', experimental: { keepImportAttributes: true } },
        module: { type: 'es6' },
      },
    ],
  },
  // Against a test that hangs, not against a slow machine.
  testTimeout: 60_000,
  // More than there are cores in a small machine: the files that take long are those on a real containerd, and mostly wait.
  maxWorkers: 3,
  // Processors would idle while the tests on a real containerd wait, and be short afterwards.
  testSequencer: '<rootDir>/test/support/testOrder.ts',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  // Only `npm run vm` runs these, with test/vm/jest.config.mjs.
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/vm/'],
};
