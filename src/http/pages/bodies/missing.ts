// Pages for missing and private content.

import { type Html, html } from '../../../platform/html.ts'
import { t } from '../../../platform/language.ts'

/** The same whether the page does not exist or is hidden from the requester. */
export const missingBody = ({ embed }: { embed: boolean }): Html =>
  html`<section class="missing"><h1>${t('There is nothing here')}</h1>
<p>${t('What you look for does not exist, or it is not for everybody.')}</p>
${!embed && html`<p><a class="button" href="/">${t('Latest videos')}</a> <a class="button plain" href="/login">${t('Log in')}</a></p>`}</section>`
