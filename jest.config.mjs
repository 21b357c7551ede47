/** Tests import the TypeScript sources as they are; swc only strips the types. */
export default {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2024' }, module: { type: 'es6' } },
    ],
  },
  // Against a test that hangs, not against a slow machine.
  testTimeout: 60_000,
  testMatch: ['<rootDir>/test/**/*.test.ts'],
};
