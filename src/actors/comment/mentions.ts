// Local accounts that a comment mentions: those named in the text of a local comment, and those that another server lists.

import type { Sql } from '../../platform/database/index.ts'

/** Maximum accounts that one comment notifies. */
const MAX_MENTIONS = 50

// A name must not be part of a word, an address or a mail address.
const MENTION = /(?<![\w@/.:-])@([\w.-]{1,120})(?:@([\w.:-]{1,260}))?/gu

/** The names, in lower case, of the accounts of `host` that a text mentions: `@name` or `@name@host`. */
export function mentionedNames(text: string, host: string): string[] {
  const names = [...text.matchAll(MENTION)]
    .filter(([, , of]) => of === undefined || withoutEnd(of).toLowerCase() === host.toLowerCase())
    .map(([, name = '', of]) => (of === undefined ? withoutEnd(name) : name).toLowerCase())
  return [...new Set(names)].slice(0, MAX_MENTIONS)
}

/** A full stop at the end of a sentence is not part of a name. */
const withoutEnd = (name: string): string => name.replace(/[.:-]+$/, '')

/** Takes names of `mentionedNames` or ActivityPub ids. Remote accounts are left out. */
export async function storeMentions(
  query: Sql,
  commentId: number,
  mentioned: { names: readonly string[] } | { urls: readonly string[] },
): Promise<void> {
  const [values, which] =
    'names' in mentioned
      ? [mentioned.names, 'lower(x.preferred_username) = any($2)']
      : [mentioned.urls, 'x.url_hash in (select md5(url)::uuid from unnest((select $2::text[])) url) and x.url = any($2)']
  if (values.length === 0) return
  await query(
    `insert into comment_mention (comment_id, account_id)
     select $1, a.id from actor x join account a on a.actor_id = x.id
     where x.host_id is null and x.deleted_at is null and a.user_id is not null and ${which}
     order by a.id limit ${MAX_MENTIONS} on conflict do nothing`,
    [commentId, values],
  )
}
