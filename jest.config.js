export default {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/scripts/strip-transform.cjs' },
  coverageProvider: 'v8',
  globalSetup: '<rootDir>/test/setup.ts',
  globalTeardown: '<rootDir>/test/teardown.ts',
  workerIdleMemoryLimit: '1GB',
  // Much of a test's time is waiting for another process: three keep two cores busy.
  maxWorkers: 3,
  testTimeout: 30_000,
}
