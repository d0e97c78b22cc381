// The entry: parses the command line, loads the configuration, runs the roles, and drains on a signal.

import { enableCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'

// V8's mid-tier compiler fragments some 20 MiB of memory. Let it compile only functions that run often.
setFlagsFromString('--invocation-count-for-maglev=2000')
// Compiled code that was not run between two collections of garbage is dropped; V8 waits for six.
setFlagsFromString('--bytecode-old-age=2')
setFlagsFromString('--flush-baseline-code')

// The compile cache halves the duration of a start. It must be enabled before anything else is loaded, and this file is plain JavaScript so
// that Node loads its TypeScript compiler only for uncached files: 230 ms and 6 MiB per start. V8 rejects code that was compiled with other
// flags, so the flags come first: each set of them has its own cache.
enableCompileCache()

// A closed pipe, such as `| head`, must not end the process.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    if (error.code !== 'EPIPE') throw error
  })
}

const { cli } = await import('./cli/cli.ts')
process.exitCode = await cli(process.argv.slice(2), { env: process.env, cwd: process.cwd() })
// All output is written by then; a hanging connection must not keep the process.
setTimeout(() => process.exit(), 2_000).unref()
