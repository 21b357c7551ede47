/**
 * Tests import the TypeScript sources directly, and swc only strips the types. V8 runs them with
 * `--no-compilation-cache` (scripts/unit.mjs), because with the cache a worker's heap grows by about 4 MB per test file
 * (from 28 to 99 MB over 22 small files), and every garbage collection scans all of it.
 */
export default {
  globalSetup: '<rootDir>/test/support/unchangedHost.ts',
  testEnvironment: '<rootDir>/test/support/testContext.ts',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        // JSON imports require their import attributes to be preserved.
        jsc: { parser: { syntax: 'typescript' }, target: 'es2024', experimental: { keepImportAttributes: true } },
        module: { type: 'es6' },
      },
    ],
  },
  // Guards against a hanging test, not against a slow machine.
  testTimeout: 60_000,
  // Use more workers than a small machine has cores, because tests on a real containerd spend three quarters of their
  // time waiting.
  maxWorkers: 4,
  // Spreads tests on a real containerd over the run, so that the processors are neither idle at the start nor
  // overloaded at the end.
  testSequencer: '<rootDir>/test/support/testOrder.ts',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  // These tests are run only by `npm run vm`, with test/vm/jest.config.mjs.
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/vm/'],
};
