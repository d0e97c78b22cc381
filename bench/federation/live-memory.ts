// Loaded into the server that is measured: at SIGUSR2 it collects its garbage and writes down what is left, in bytes.
// Without it, memory tells how much garbage the engine lets lie, which is as much as it likes while there is room.

import { renameSync, writeFileSync } from 'node:fs'

const file = process.env.VIREO_BENCH_LIVE_MEMORY ?? ''

process.on('SIGUSR2', () => {
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  // Whole when it is there.
  writeFileSync(`${file}.new`, String(heapUsed + external))
  renameSync(`${file}.new`, file)
})
