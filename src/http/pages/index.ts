// The pages for people, each with its routes and a body. ActivityPub on the same addresses is handled before.

import type { Area } from '../plugins/types.ts'
import { addAboutPages } from './about.routes.ts'
import { addActorPages } from './actor.routes.ts'
import { addAssets } from './assets.ts'
import { addEmbedPages } from './embed.routes.ts'
import { addErrorPages, addMissingPage } from './errors.ts'
import { addHomePage } from './home.routes.ts'
import { addLanguageChoice } from './language.routes.ts'
import { addLoginPages } from './login.routes.ts'
import { addPlaylistWatchPages } from './playlist.routes.ts'
import { addScreens } from './screens/index.ts'
import { addSearchPage } from './search.routes.ts'
import { makePageTools, type PagesDeps } from './send.ts'
import { addSubscribePages } from './subscribe.routes.ts'
import { addWatchPages } from './watch.routes.ts'

/** Adds the pages, their assets, and the page for missing addresses. */
export function pagesArea(deps: PagesDeps): Area {
  return (app) => {
    const tools = makePageTools(app, deps, addAssets(app))
    addErrorPages(tools)
    addLanguageChoice(tools)
    addHomePage(tools)
    addActorPages(tools)
    addSearchPage(tools)
    addLoginPages(tools)
    addScreens(tools)
    addSubscribePages(tools)
    addWatchPages(tools)
    addEmbedPages(tools)
    addAboutPages(tools)
    addPlaylistWatchPages(tools)
    addMissingPage(tools)
  }
}
