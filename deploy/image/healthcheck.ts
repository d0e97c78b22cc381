// Whether the process in this container is ready: exits with 0 if it is. Requests its public listener, or the given URL.

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
