export default {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  testRunner: '<rootDir>/scripts/jest-runner.ts',
  // Node runs TypeScript, and tests import what they use of Jest.
  transform: {},
  injectGlobals: false,
  globalSetup: '<rootDir>/test/setup.ts',
  globalTeardown: '<rootDir>/test/teardown.ts',
  workerIdleMemoryLimit: '1GB',
  // Much of a test's time is waiting for another process: three keep two cores busy.
  maxWorkers: 3,
  testTimeout: 30_000,
}
