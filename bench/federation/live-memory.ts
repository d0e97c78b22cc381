// Loaded into the measured server: at SIGUSR2 it collects garbage and writes the remaining bytes to a file. Otherwise memory shows mostly
// uncollected garbage, which grows while there is room.

import { renameSync, writeFileSync } from 'node:fs'

const file = process.env.VIREO_BENCH_LIVE_MEMORY ?? ''

process.on('SIGUSR2', () => {
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  // An atomic write.
  writeFileSync(`${file}.new`, String(heapUsed + external))
  renameSync(`${file}.new`, file)
})
