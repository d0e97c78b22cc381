// Every migration, in order. Each one is small and works beside running processes of the previous version.

import { Initial } from './0001-initial.ts'
import { PicturesToDraw } from './0002-pictures-to-draw.ts'
import { CountAllVideos } from './0003-count-all-videos.ts'
import { Lives } from './0004-lives.ts'
import { SearchedVideos } from './0005-searched-videos.ts'
import { SearchOfChannels } from './0006-search-of-channels.ts'
import { LiveRenditions } from './0007-live-renditions.ts'
import { Runners } from './0008-runners.ts'
import { ApplicationTokens } from './0009-application-tokens.ts'
import { ExternalLogins } from './0010-external-logins.ts'
import { LanguageOfUsers } from './0011-language-of-users.ts'
import { Plugins } from './0012-plugins.ts'
import { LiveOnRunners } from './0013-live-on-runners.ts'
import { NoticesOfCaptions } from './0014-notices-of-captions.ts'
import { PushSubscriptions } from './0015-push-subscriptions.ts'
import { LoginsAskedAgain } from './0016-logins-asked-again.ts'
import { ResultsOfRunners } from './0017-results-of-runners.ts'
import { LiveFences } from './0018-live-fences.ts'
import { ChannelsOfHosts } from './0019-channels-of-hosts.ts'
import { ShortPendingLists } from './0020-short-pending-lists.ts'
import { TagsOfShownVideos } from './0021-tags-of-shown-videos.ts'
import { CategoriesOfChannels } from './0022-categories-of-channels.ts'

export const migrations = [
  { name: '0001-initial', class: Initial },
  { name: '0002-pictures-to-draw', class: PicturesToDraw },
  { name: '0003-count-all-videos', class: CountAllVideos },
  { name: '0004-lives', class: Lives },
  { name: '0005-searched-videos', class: SearchedVideos },
  { name: '0006-search-of-channels', class: SearchOfChannels },
  { name: '0007-live-renditions', class: LiveRenditions },
  { name: '0008-runners', class: Runners },
  { name: '0009-application-tokens', class: ApplicationTokens },
  { name: '0010-external-logins', class: ExternalLogins },
  { name: '0011-language-of-users', class: LanguageOfUsers },
  { name: '0012-plugins', class: Plugins },
  { name: '0013-live-on-runners', class: LiveOnRunners },
  { name: '0014-notices-of-captions', class: NoticesOfCaptions },
  { name: '0015-push-subscriptions', class: PushSubscriptions },
  { name: '0016-logins-asked-again', class: LoginsAskedAgain },
  { name: '0017-results-of-runners', class: ResultsOfRunners },
  { name: '0018-live-fences', class: LiveFences },
  { name: '0019-channels-of-hosts', class: ChannelsOfHosts },
  { name: '0020-short-pending-lists', class: ShortPendingLists },
  { name: '0021-tags-of-shown-videos', class: TagsOfShownVideos },
  { name: '0022-categories-of-channels', class: CategoriesOfChannels },
]
