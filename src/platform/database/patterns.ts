// Patterns for LIKE and ILIKE.

/** Matches texts that contain `text` literally. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`
