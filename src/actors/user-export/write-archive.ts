// The content of an archive, in the order in which it is written: one part after the other, each read in pages. Data that changes meanwhile
// is archived as it was when its page was read; removed data is left out.

import type { Export } from './export.ts'
import { writeAccount } from './parts/account.ts'
import { writeTagPolicies } from './parts/automatic-tag-policies.ts'
import { writeBlocklist } from './parts/blocklist.ts'
import { writeChannels } from './parts/channels.ts'
import { writeComments } from './parts/comments.ts'
import { writeFollows } from './parts/follows.ts'
import { writeHistory } from './parts/history.ts'
import { writeOutbox } from './parts/outbox.ts'
import { writePlaylists } from './parts/playlists.ts'
import { writeRatings } from './parts/ratings.ts'
import { writeUserSettings } from './parts/user-settings.ts'
import { writeVideos } from './parts/videos.ts'
import { writeWatchedWords } from './parts/watched-words.ts'

const PARTS: readonly ((of: Export) => Promise<void>)[] = [
  writeAccount,
  writeChannels,
  writeBlocklist,
  writeRatings,
  writeFollows,
  writeUserSettings,
  writeComments,
  writePlaylists,
  writeHistory,
  writeWatchedWords,
  writeTagPolicies,
]

/** Share of the progress for the files of videos, in percent. */
const FILES = 80

/** Throws when the signal aborts, or something cannot be read or written. */
export async function writeArchive(of: Export): Promise<void> {
  const archived = await writeVideos({ ...of, progress: (percent) => of.progress((percent * FILES) / 100) })
  await writeOutbox(of, archived)
  for (const [index, write] of PARTS.entries()) {
    of.signal.throwIfAborted()
    await write(of)
    of.progress(FILES + ((index + 1) * (100 - FILES)) / PARTS.length)
  }
}
