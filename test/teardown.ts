// Runs once after all tests: stops what setup.ts started.

export default async function teardown(): Promise<void> {
  const stop: unknown = Reflect.get(globalThis, 'vireoTestTeardown')
  if (typeof stop === 'function') await stop()
}
