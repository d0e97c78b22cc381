// What the writers of an archive need of the layer that speaks ActivityPub: its documents, made by its own builders.

/** Raw JSON-LD. */
export type ArchivedDocument = { [key: string]: unknown }

/** What of a video is in the archive, by paths relative to the folder of each document; null for what is not. */
export interface ArchivedVideo {
  videoFile: { path: string; mediaType: string; height: number; size: number | null; fps: number } | null
  thumbnail: string | null
  /** By language. */
  captions: Record<string, string>
}

export interface ArchiveDocuments {
  /** The user's account, whose collections and pictures are those of the archive. Null when it is gone. */
  actor(actorId: number, archived: { avatar: string | null; banner: string | null }): Promise<ArchivedDocument | null>
  /** The Create of each video, without context, in the order of the ids. Those that are gone are left out. */
  videos(archived: ReadonlyMap<number, ArchivedVideo>): Promise<ArchivedDocument[]>
  /** The Create of each comment that is shown, without context. */
  comments(ids: readonly number[]): Promise<ArchivedDocument[]>
  /** An ordered collection without its items and their number, with the context that they need. */
  collection(id: string, items: 'addresses' | 'activities'): ArchivedDocument
}
