// Names of the pieces of a live, as the contract has them.

/** `rendition`: 0 for the stream as it was received. */
export const pieceName = (rendition: number, sequence: number): string => `${rendition}-${String(sequence).padStart(6, '0')}.ts`
