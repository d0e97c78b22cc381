// The screens of plugins and themes: what is installed, what failed and why, and the settings of a plugin.

import { pluginTypes } from '../../../actors/plugin/index.ts'
import { html } from '../../../platform/html.ts'
import { t } from '../../../platform/language.ts'
import { textAt, valueAt } from './api.ts'
import { form, list, type Screen, screen } from './parts.ts'
import { hasSettings, settingFields, settingsBody, settingTexts, settingValues } from './plugin-settings.ts'
import { is } from './words.ts'

const isTheme = is('type', pluginTypes.theme)
const npmNameOf = (row: unknown): string => `peertube-${isTheme(row) ? 'theme' : 'plugin'}-${valueAt(row, 'name')}`
const isOn = is('enabled', true)
const stateOf = (row: unknown) => (isOn(row) ? t('On') : valueAt(row, 'failure') ? t('Switched off by the server') : t('Off'))

export const pluginScreens: readonly Screen[] = [
  screen('/admin/plugins', t('Plugins and themes'), [
    list('plugins', 'GET /api/v1/plugins', {
      id: npmNameOf,
      columns: {
        Name: (row) => html`<a href="/admin/plugins/${npmNameOf(row)}">${textAt(row, 'name')}</a>`,
        Kind: (row) => (isTheme(row) ? t('Theme') : t('Plugin')),
        Version: 'version',
        Newest: 'latestVersion',
        State: stateOf,
        Problem: 'failure',
        Description: 'description',
      },
      actions: {
        enable: { label: t('Switch on'), operation: 'POST /api/v1/vireo/plugins/:npmName/enable', when: (row) => !isOn(row) },
        disable: { label: t('Switch off'), operation: 'POST /api/v1/vireo/plugins/:npmName/disable', when: isOn },
        uninstall: { label: t('Uninstall'), operation: 'POST /api/v1/plugins/uninstall', body: (npmName) => ({ npmName }), danger: true },
      },
      empty: t('None is installed.'),
    }),
    form('install', 'POST /api/v1/plugins/install', {
      title: t('Install or update'),
      fields: {
        npmName: { label: t('Name of the package'), help: t('Such as peertube-theme-dark') },
        pluginVersion: { label: t('Version'), help: t('Such as 1.2.3; empty for the newest') },
        currentPassword: { label: t('Your password'), as: 'password' },
      },
      text: t('A plugin runs in a process of its own, and its scripts run in the browsers of everybody here: install only what you trust.'),
      button: t('Install'),
      said: t('It is installed.'),
    }),
  ]),
  screen(
    '/admin/plugins/:npmName',
    t('Settings of a plugin'),
    {
      back: () => ({ path: '/admin/plugins', text: t('All plugins and themes') }),
      needs: 'PUT /api/v1/plugins/:npmName/settings',
      reads: { plugin: 'GET /api/v1/plugins/:npmName', registered: 'GET /api/v1/plugins/:npmName/registered-settings' },
    },
    [
      (shown) => html`<h2>${String(shown.values.npmName)}</h2>${!hasSettings(shown) && html`<p>${t('It has no settings.')}</p>`}`,
      form('settings', 'PUT /api/v1/plugins/:npmName/settings', {
        when: hasSettings,
        text: settingTexts,
        fields: settingFields,
        initial: settingValues,
        body: (text, _made, shown) => settingsBody(text, shown),
      }),
    ],
  ),
]
