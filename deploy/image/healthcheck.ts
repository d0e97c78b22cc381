// Whether the process in this container is ready, as an exit code: 0 when it is. By default its public listener is asked, or the
// address that is given.

const port = process.env.VIREO__LISTEN__PORT || '9000'
const address = process.argv[2] ?? `http://127.0.0.1:${port}/health/ready`

try {
  const response = await fetch(address, { signal: AbortSignal.timeout(4_000) })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
} catch (error) {
  // Shown by `docker inspect`.
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
