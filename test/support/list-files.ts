// Lists the files of a folder while a server changes it.

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

const TRIES = 20

/** Paths relative to `folder`. Folders that vanish meanwhile are ignored; a missing `folder` is an error. */
export async function listFiles(folder: string): Promise<string[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true })
      return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    } catch (error) {
      if (attempt === TRIES) throw error
    }
  }
}
