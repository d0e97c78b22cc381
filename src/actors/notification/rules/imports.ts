// Notifications about imports: each failed attempt, and success.

import { rule } from '../rule.ts'

export const imported = rule({
  on: ['VideoImportSucceeded'],
  type: 'myVideoImportSuccess',
  about: ['video_import_id'],
  values: ({ importId }) => [importId],
  audience: `
    select user_id, id::text as key, null::int as by_actor_id, id as video_import_id from video_import
    where id = $1 and state = 'success'`,
})

export const importFailed = rule({
  on: ['VideoImportFailed'],
  type: 'myVideoImportError',
  about: ['video_import_id'],
  values: ({ importId, at }) => [importId, at],
  audience: `
    select user_id, id || ' ' || $2::bigint as key, null::int as by_actor_id, id as video_import_id from video_import
    where id = $1 and state = 'failed'`,
})
