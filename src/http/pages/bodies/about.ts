// The about page.

import type { Config } from '../../../config/index.ts'
import { type Html, html } from '../../../platform/html.ts'
import { type Localized, t } from '../../../platform/language.ts'
import type { Here } from '../../videos/actor.view.ts'
import { richText } from './rich-text.ts'

export interface About {
  instance: Config['instance']
  /** File name of the widest picture. */
  banner: string | undefined
  hasContact: boolean
  here: Here
}

export function aboutBody({ instance, banner, hasContact, here }: About): Html {
  const chapters: [Localized, string][] = [
    [t('Terms'), instance.terms],
    [t('Code of conduct'), instance.code_of_conduct],
    [t('Moderation'), instance.moderation_information],
    [t('Who runs this server'), instance.administrator],
    [t('Why it was made'), instance.creation_reason],
    [t('For how long'), instance.maintenance_lifetime],
    [t('How it is paid for'), instance.business_model],
    [t('Hardware'), instance.hardware_information],
  ]
  return html`${
    banner && html`<img class="banner" src="/lazy-static/banners/${banner}" alt="" width="1920" height="317">`
  }<h1>${t('About {name}', { name: instance.name })}</h1>
${instance.short_description && html`<p>${instance.short_description}</p>`}
${instance.description && ownText(instance.description, here)}
${hasContact && html`<p><a href="/about/contact">${t('Write to who runs this server')}</a></p>`}
${chapters.map(([title, text]) => text.trim() !== '' && html`<section><h2>${title}</h2>${ownText(text, here)}</section>`)}`
}

/** Texts by the operator are not truncated: people agree to the whole terms. */
const ownText = (markdown: string, here: Here): Html => richText(markdown, here, { longest: Number.POSITIVE_INFINITY })
