/**
 * Retrieval of knowledge by embeddings, over LangChain4j's interface for embedding models ({@code
 * dev.langchain4j:langchain4j-core}, which an application that uses this brings itself).
 */
@NullMarked
package dev.warmpath.knowledge.embedding;

import org.jspecify.annotations.NullMarked;
