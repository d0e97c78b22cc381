// All screens, in the order of their menus.

import { accountScreens } from './account.ts'
import { overviewScreens, systemScreens } from './admin.ts'
import { federationScreens } from './admin-federation.ts'
import { moderationScreens, peopleScreens } from './admin-people.ts'
import { pluginScreens } from './admin-plugins.ts'
import { runnerScreens } from './admin-runners.ts'
import { channelScreens } from './channels.ts'
import { libraryScreens } from './library.ts'
import type { Screen } from './parts.ts'
import { publishScreens } from './publish.ts'
import { videoScreens } from './videos.ts'
import { watchScreens } from './watch.ts'

const inMenu = (menu: NonNullable<Screen['menu']>, ...lists: (readonly Screen[])[]): Screen[] =>
  lists.flat().map((screen) => ({ ...screen, menu }))

export const screens: readonly Screen[] = [
  ...watchScreens,
  ...inMenu('library', videoScreens, publishScreens, channelScreens, libraryScreens),
  ...inMenu('account', accountScreens),
  ...inMenu('admin', overviewScreens, federationScreens, peopleScreens, moderationScreens, runnerScreens, pluginScreens, systemScreens),
]
