// Writes an archive, one part after the other, each read in pages. Data that changes meanwhile is archived as it was when its page was
// read; removed data is left out.

import { archiveParts, type Export, writeOutbox } from '../user-archive/index.ts'

/** Share of the progress for the files of videos, in percent. */
const VIDEOS = 80

/** Throws when the signal aborts, or something cannot be read or written. */
export async function writeArchive(of: Export): Promise<void> {
  let done = 0
  for (const part of archiveParts) {
    of.signal.throwIfAborted()
    const share = part.name === 'videos' ? VIDEOS : (100 - VIDEOS) / archiveParts.length
    const items = await part.export({ ...of, progress: (percent) => of.progress(done + (percent * share) / 100) })
    await of.writer.part(part, items)
    done += share
    of.progress(done)
  }
  await writeOutbox(of)
  of.progress(100)
}
