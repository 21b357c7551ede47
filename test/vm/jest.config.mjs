/** The tests in a virtual machine, which share one machine and so run one file after the other. */
import { projectConfig } from '../../jest.config.mjs';

export default {
  ...projectConfig,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/vm/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  // An emulated machine takes minutes for a reboot.
  testTimeout: 900_000,
  maxWorkers: 1,
};
