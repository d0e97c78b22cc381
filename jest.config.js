export default {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/scripts/strip-transform.cjs' },
  coverageProvider: 'v8',
  globalSetup: '<rootDir>/test/setup.ts',
  globalTeardown: '<rootDir>/test/teardown.ts',
  workerIdleMemoryLimit: '1GB',
  maxWorkers: 2,
  testTimeout: 30_000,
}
