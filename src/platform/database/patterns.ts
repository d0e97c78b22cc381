// Patterns for LIKE and ILIKE.

/** Matches texts that hold `text`, in which no character is a wildcard. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`
