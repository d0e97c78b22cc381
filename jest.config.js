export default {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  // They need a Chromium, which not every machine has: `npm run test:browser`.
  testPathIgnorePatterns: ['/node_modules/', ...(process.env.VIREO_TEST_BROWSER ? [] : ['/test/browser/'])],
  testRunner: '<rootDir>/scripts/jest-runner.ts',
  testSequencer: '<rootDir>/scripts/jest-sequencer.ts',
  // Node runs TypeScript, and tests import what they use of Jest.
  transform: {},
  injectGlobals: false,
  globalSetup: '<rootDir>/test/setup.ts',
  globalTeardown: '<rootDir>/test/teardown.ts',
  // What a test file keeps in its module stays: a worker that has run many of them is replaced.
  workerIdleMemoryLimit: '1.5GB',
  // Much of a test's time is waiting for another process, or for a beat of the server: four keep two cores busy.
  maxWorkers: 4,
  // Machines of continuous integration are up to six times slower than a quiet one.
  testTimeout: 900_000,
}
