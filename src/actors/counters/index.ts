export { keepCountersRight, type Walk, walks } from './reconcile.ts'
