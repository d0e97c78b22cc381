// Facts about this node, and the administrators' homepage.

import { defineEntity, p } from '@mikro-orm/postgresql'

export const CustomPage = defineEntity({
  name: 'CustomPage',
  tableName: 'custom_page',
  properties: {
    name: p.text().primary(),
    content: p.text(),
    updatedAt: p.datetime(3),
  },
})

export const OauthClient = defineEntity({
  name: 'OauthClient',
  tableName: 'oauth_client',
  properties: {
    id: p.integer().primary(),
    clientId: p.text(),
    clientSecret: p.text(),
    createdAt: p.datetime(3),
  },
})

export const Setting = defineEntity({
  name: 'Setting',
  tableName: 'setting',
  properties: {
    key: p.text().primary(),
    value: p.json<unknown>(),
    updatedAt: p.datetime(3),
  },
})
