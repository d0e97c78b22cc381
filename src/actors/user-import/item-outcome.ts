// The result of importing one item of an archive.

/**
 * Why an item was not brought in. The kinds of the catalogue of refusals, and: `damaged`, its file is not what the archive says of it;
 * `file_missing`, the archive does not have its file; `quota_reached`, the user's quota has no room for it; `too_many`, the archive asks
 * for too much of the kind.
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

/** `duplicate`: what it brings is here already. `error`: refused for itself, for this reason, and the import goes on with the next. */
export type ItemOutcome = 'success' | 'duplicate' | { error: ItemReason }
