// The data folder, which must exist before anything else.

import { accessSync, constants, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Makes the folder and its parents. Throws an Error with a one-line message and a remedy. */
export function makeDataFolder(path: string): void {
  try {
    makeFolder(path)
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`The data folder ${path} cannot be used (${reason}): set VIREO_DATA_DIR to a folder of this user`, {
      cause: error,
    })
  }
}

/** Node's own recursive mode never ends if the system refuses folders with "not found", as below /proc. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path)
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EEXIST' && statSync(path).isDirectory()) return
    if (code !== 'ENOENT' || dirname(path) === path) throw error
    makeFolder(dirname(path))
    mkdirSync(path)
  }
}

/** By shape: Node's own errors are no instances of the `Error` in tests. */
const codeOf = (error: unknown): unknown => (typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined)
