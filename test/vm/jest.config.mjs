/** The tests on a virtual machine. They share one machine, so the files run sequentially. */
import { projectConfig } from '../../jest.config.mjs';

export default {
  ...projectConfig,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/vm/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  // Milliseconds. Rebooting an emulated machine takes minutes.
  testTimeout: 900_000,
  maxWorkers: 1,
};
