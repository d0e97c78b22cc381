// All screens, and their menus: what the user may open.

import { isStaff } from '../../../actors/user/index.ts'
import { type Html, html } from '../../../platform/html.ts'
import { t } from '../../../platform/language.ts'
import { tabs } from '../bodies/listing.ts'
import { accountScreens } from './account.ts'
import { overviewScreens, systemScreens } from './admin.ts'
import { federationScreens } from './admin-federation.ts'
import { moderationScreens, peopleScreens } from './admin-people.ts'
import { pluginScreens } from './admin-plugins.ts'
import { runnerScreens } from './admin-runners.ts'
import { channelScreens } from './channels.ts'
import { libraryScreens } from './library.ts'
import type { Screen, Shown } from './parts.ts'
import { publishScreens } from './publish.ts'
import { videoScreens } from './videos.ts'
import { watchScreens } from './watch.ts'

type Menu = NonNullable<Screen['menu']>

const inMenu = (menu: Menu, ...lists: (readonly Screen[])[]): Screen[] => lists.flat().map((screen) => ({ ...screen, menu }))

export const screens: readonly Screen[] = [
  ...watchScreens,
  ...inMenu('library', videoScreens, publishScreens, channelScreens, libraryScreens),
  ...inMenu('account', accountScreens),
  ...inMenu('admin', overviewScreens, federationScreens, peopleScreens, moderationScreens, runnerScreens, pluginScreens, systemScreens),
]

const MENUS = { library: t('Your library'), account: t('Your account'), admin: t('Administration') } as const

type MayCall = (operation: string) => boolean

/** True if somebody may open the screen: one of its parts is allowed. */
export const mayOpen = ({ parts, needs }: Screen, mayCall: MayCall): boolean =>
  needs === undefined ? parts.some((part) => typeof part === 'function' || mayCall(part.operation)) : mayCall(needs)

export function menuOf({ path, menu }: { path: string; menu: Menu }, { visit, tools }: Shown, mayCall: MayCall): Html {
  const isListed = ({ path, unlisted, isOff }: Screen) => !unlisted && !path.includes(':') && !isOff?.(tools.config())
  const open = screens.filter((screen) => isListed(screen) && mayOpen(screen, mayCall))
  const itemsOf = (name: Menu) => open.filter((screen) => screen.menu === name)
  const sections = (Object.keys(MENUS) as Menu[]).filter((name) => name !== 'admin' || (visit && isStaff(visit.user.role)))
  return html`${tabs(
    t('Sections'),
    sections.map((name) => ({ name: MENUS[name], path: itemsOf(name)[0]?.path ?? '/', isOpen: name === menu })),
  )}${tabs(
    t('Pages: {list}', { list: MENUS[menu] }),
    itemsOf(menu).map((item) => ({ name: item.title, path: item.path, isOpen: item.path === path })),
  )}`
}
