// The result of importing one item of an archive.

/**
 * Why an item was not imported. The kinds of the catalogue of refusals, and: `damaged`, its file differs from what the archive declares;
 * `file_missing`, the archive does not have its file; `quota_reached`, the file exceeds the user's quota; `too_many`, the archive exceeds a
 * limit.
 */
export const itemReasons = [
  'invalid',
  'not_found',
  'forbidden',
  'conflict',
  'gone',
  'too_large',
  'unsupported_media_type',
  'unprocessable',
  'too_many',
  'quota_reached',
  'damaged',
  'file_missing',
] as const

export type ItemReason = (typeof itemReasons)[number]

/** `duplicate`: the same content exists already. `error`: refused for this reason; the import continues with the next item. */
export type ItemOutcome = 'success' | 'duplicate' | { error: ItemReason }
