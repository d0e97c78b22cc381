// The exchange format for lists of accounts: one handle (`name@host`) per line, with comments as in lists of servers. Pure.

import { type BadLine, linesOf, SHOWN } from './server-list.ts'

export interface AccountList {
  /** To be blocked, without duplicates. */
  handles: string[]
  bad: BadLine[]
}

/** `ownHandle`: the importing user, who cannot be in the list; `normal`: the usual form of a handle, undefined for an invalid one. */
export function readAccountList(text: string, options: { ownHandle: string; normal: (text: string) => string | undefined }): AccountList {
  const handles = new Set<string>()
  const bad: BadLine[] = []
  for (const { line, fields } of linesOf(text)) {
    const [asked = ''] = fields
    const handle = options.normal(asked)
    if (handle === undefined) bad.push({ line, problem: `"${asked.slice(0, SHOWN)}" is not the handle of an account.` })
    else if (handle === options.ownHandle) bad.push({ line, problem: 'You cannot block yourself.' })
    else handles.add(handle)
  }
  return { handles: [...handles], bad }
}
