// The version and, if known, the commit of this software.

import { readFileSync } from 'node:fs'

/** The version in package.json. */
export const VERSION: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version

/** The commit of a checkout; empty in a packaged release. */
export const COMMIT: string = readCommit()

function readCommit(): string {
  const git = new URL('../.git/', import.meta.url)
  try {
    const head = readFileSync(new URL('HEAD', git), 'utf8').trim()
    const reference = /^ref: (refs\/[\w./-]+)$/.exec(head)?.[1]
    return reference === undefined ? head : readFileSync(new URL(reference, git), 'utf8').trim()
  } catch {
    return ''
  }
}
