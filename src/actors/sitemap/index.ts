export { type ListedPage, listPages } from './sitemap.queries.ts'
