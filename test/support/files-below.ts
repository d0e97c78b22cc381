// The files of a folder that a server is changing meanwhile.

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

const TRIES = 20

/** Their names below it. Folders that vanish while they are read are no error; that the folder itself is not there is one. */
export async function filesBelow(folder: string): Promise<string[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true })
      return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    } catch (error) {
      if (attempt === TRIES) throw error
    }
  }
}
