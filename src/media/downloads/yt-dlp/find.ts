// Finds yt-dlp: in the folder of programs, run by Python, or on PATH; and limits the other programs that it finds.

import { access, constants, mkdir, rm, stat, symlink } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

export interface Program {
  command: string
  /** Precede all others. */
  args: string[]
  /** The only folder in which it finds programs. */
  searchPath: string
}

export interface FindYtDlpOptions {
  /** The folder of programs, and the file name. */
  folder: string
  name: string
  pythonPath: string
  /** The search path; the environment's by default. */
  path?: string | undefined
  /** A new folder with links to the programs that it may start. */
  links: string
}

/**
 * The programs that it may start: the Python that runs it, and the JavaScript runtime, which it starts without access to files and hosts.
 * Any other program would bypass the proxy.
 */
const PYTHON = ['python3', 'python']
const RUNTIME = 'deno'

/** Searched each time, so that a later installation is found. */
export async function findYtDlp({ links, ...options }: FindYtDlpOptions): Promise<Program | undefined> {
  const found = await locateYtDlp(options)
  const { pythonPath, path = process.env.PATH ?? '' } = options
  return found && { ...found, searchPath: await linkPrograms({ pythonPath, path, links }) }
}

/** Only locates it; changes nothing. */
export async function locateYtDlp(options: Omit<FindYtDlpOptions, 'links'>): Promise<Omit<Program, 'searchPath'> | undefined> {
  const { folder, name, pythonPath, path = process.env.PATH ?? '' } = options
  const own = join(folder, name)
  if (await isFile(own, constants.R_OK)) {
    // Releases are Python archives; builds for a system are executable.
    if (await isFile(pythonPath, constants.X_OK)) return { command: pythonPath, args: [own] }
    if (await isFile(own, constants.X_OK)) return { command: own, args: [] }
  }
  const command = await onPath(name, path)
  return command === undefined ? undefined : { command, args: [] }
}

async function linkPrograms(options: { pythonPath: string; path: string; links: string }): Promise<string> {
  const { pythonPath, path, links } = options
  await rm(links, { recursive: true, force: true })
  await mkdir(links)
  const isConfigured = await isFile(pythonPath, constants.X_OK)
  for (const name of [...PYTHON, RUNTIME]) {
    const program = isConfigured && PYTHON.includes(name) ? pythonPath : await onPath(name, path)
    if (program !== undefined) await symlink(program, join(links, name))
  }
  return links
}

async function onPath(name: string, path: string): Promise<string | undefined> {
  for (const entry of path.split(delimiter).filter((part) => part !== '')) {
    const candidate = join(entry, name)
    if (await isFile(candidate, constants.X_OK)) return candidate
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
