// Port to the federation layer, which builds the ActivityPub documents of an archive.

/** Raw JSON-LD. */
export type ArchivedDocument = { [key: string]: unknown }

/** Paths of a video's files in the archive, relative to the folder of each document; null for files that are left out. */
export interface ArchivedVideo {
  videoFile: { path: string; mediaType: string; height: number; size: number | null; fps: number } | null
  thumbnail: string | null
  /** Keyed by language. */
  captions: Record<string, string>
}

export interface ArchiveDocuments {
  /** The user's account, with the collections and pictures of the archive. Null if it is removed. */
  actor(actorId: number, archived: { avatar: string | null; banner: string | null }): Promise<ArchivedDocument | null>
  /** The Create of each video, without context, in the order of the ids. Removed videos are left out. */
  videos(archived: ReadonlyMap<number, ArchivedVideo>): Promise<ArchivedDocument[]>
  /** The Create of each visible comment, without context. */
  comments(ids: readonly number[]): Promise<ArchivedDocument[]>
  /** An ordered collection without its items and their count, with the context that they need. */
  collection(id: string, items: 'addresses' | 'activities'): ArchivedDocument
}
