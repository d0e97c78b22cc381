// Every migration, in order. Each one is small and works beside running processes of the version before.

import { Initial } from './0001-initial.ts'
import { PicturesToDraw } from './0002-pictures-to-draw.ts'
import { CountAllVideos } from './0003-count-all-videos.ts'
import { Lives } from './0004-lives.ts'
import { SearchedVideos } from './0005-searched-videos.ts'
import { SearchOfChannels } from './0006-search-of-channels.ts'

export const migrations = [
  { name: '0001-initial', class: Initial },
  { name: '0002-pictures-to-draw', class: PicturesToDraw },
  { name: '0003-count-all-videos', class: CountAllVideos },
  { name: '0004-lives', class: Lives },
  { name: '0005-searched-videos', class: SearchedVideos },
  { name: '0006-search-of-channels', class: SearchOfChannels },
]
