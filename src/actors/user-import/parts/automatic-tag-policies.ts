// Automatic tags whose comments the user reviews.

import type { PartImporter } from '../part-importer.ts'
import type { Deps } from './deps.ts'

export function makeTagPoliciesImporter({ tagPolicies }: Deps): PartImporter<'automatic-tag-policies'> {
  return {
    part: 'automatic-tag-policies',
    importItem: async ({ name }, { accountId }) => ((await tagPolicies.addReview(accountId, name)) ? 'success' : 'duplicate'),
  }
}
