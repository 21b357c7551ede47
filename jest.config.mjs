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
  // jest takes one fewer than there are cores: with two it would run one file at a time, and those on a real containerd
  // mostly wait.
  maxWorkers: 2,
  testMatch: ['<rootDir>/test/**/*.test.ts'],
};
