/** esbuild bundles the imported style sheets. */
declare module '*.css';
