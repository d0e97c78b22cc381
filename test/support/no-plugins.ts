// Stubs of a server without plugins and themes.

import type { ActivePlugins } from '../../src/actors/plugin/index.ts'

export const noPlugins: Pick<ActivePlugins, 'recent' | 'hasTheme'> = { recent: async () => [], hasTheme: () => false }
