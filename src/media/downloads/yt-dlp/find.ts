// Where yt-dlp is: in the folder of programs, run by Python, or on PATH.

import { access, constants, stat } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

export interface Program {
  command: string
  /** Before all others. */
  args: string[]
}

export interface FindYtDlpOptions {
  /** The folder of programs, and the name there. */
  folder: string
  name: string
  pythonPath: string
  /** The search path; the environment's by default. */
  path?: string | undefined
}

/** Looked for each time, so that one that is installed meanwhile is found. */
export async function findYtDlp({ folder, name, pythonPath, path }: FindYtDlpOptions): Promise<Program | undefined> {
  const own = join(folder, name)
  if (await isFile(own, constants.R_OK)) {
    // What is released is a Python archive; one that was built for this system runs by itself.
    if (await isFile(pythonPath, constants.X_OK)) return { command: pythonPath, args: [own] }
    if (await isFile(own, constants.X_OK)) return { command: own, args: [] }
  }
  for (const entry of (path ?? process.env.PATH ?? '').split(delimiter).filter((part) => part !== '')) {
    const candidate = join(entry, name)
    if (await isFile(candidate, constants.X_OK)) return { command: candidate, args: [] }
  }
  return undefined
}

async function isFile(path: string, mode: number): Promise<boolean> {
  try {
    await access(path, mode)
    return (await stat(path)).isFile()
  } catch {
    return false
  }
}
